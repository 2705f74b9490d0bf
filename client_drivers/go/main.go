// Lets the assignment strategies of franz-go and sarama answer requests: one JSON document per line on the standard
// input, one answer per line on the standard output. The first line out names the libraries with their versions.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"

	"github.com/IBM/sarama"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

type member struct {
	ID         string  `json:"id"`
	InstanceID *string `json:"instance_id"`
	// Metadata are the bytes of the subscription in the JoinGroup response.
	Metadata []byte `json:"metadata"`
}

type request struct {
	Library    string           `json:"library"`
	Strategy   string           `json:"strategy"`
	Partitions map[string]int32 `json:"partitions"`
	Members    []member         `json:"members"`
}

type plan map[string]map[string][]int32

type library struct {
	Version    string   `json:"version"`
	Strategies []string `json:"strategies"`
}

var franz = map[string]func() kgo.GroupBalancer{
	"range":              kgo.RangeBalancer,
	"roundrobin":         kgo.RoundRobinBalancer,
	"sticky":             kgo.StickyBalancer,
	"cooperative-sticky": kgo.CooperativeStickyBalancer,
}

var saramas = map[string]func() sarama.BalanceStrategy{
	"range":      sarama.NewBalanceStrategyRange,
	"roundrobin": sarama.NewBalanceStrategyRoundRobin,
	"sticky":     sarama.NewBalanceStrategySticky,
}

func main() {
	lines := bufio.NewReader(os.Stdin)
	out := json.NewEncoder(os.Stdout)
	check(out.Encode(map[string]any{"libraries": map[string]library{
		"franz-go": {version("github.com/twmb/franz-go"), names(franz)},
		"sarama":   {version("github.com/IBM/sarama"), names(saramas)},
	}}))
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var asked request
		check(json.Unmarshal(line, &asked))
		members, err := answer(asked)
		if err != nil {
			check(out.Encode(map[string]any{"error": err.Error()}))
			continue
		}
		check(out.Encode(map[string]any{"members": members}))
	}
}

func answer(asked request) (found plan, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			found, err = nil, fmt.Errorf("panic: %v", fault)
		}
	}()
	if asked.Library == "sarama" {
		return ofSarama(asked)
	}
	return ofFranz(asked)
}

// As groupConsumer.balanceGroup does it.
func ofFranz(asked request) (plan, error) {
	members := make([]kmsg.JoinGroupResponseMember, 0, len(asked.Members))
	for _, each := range asked.Members {
		joined := kmsg.NewJoinGroupResponseMember()
		joined.MemberID, joined.InstanceID, joined.ProtocolMetadata = each.ID, each.InstanceID, each.Metadata
		members = append(members, joined)
	}
	balancer, topics, err := franz[asked.Strategy]().MemberBalancer(members)
	if err != nil {
		return nil, err
	}
	partitions := map[string]int32{}
	for topic := range topics {
		if count, known := asked.Partitions[topic]; known {
			partitions[topic] = count
		}
	}
	var into kgo.IntoSyncAssignment
	if failing, ok := balancer.(kgo.GroupMemberBalancerOrError); ok {
		if into, err = failing.BalanceOrError(partitions); err != nil {
			return nil, err
		}
	} else {
		into = balancer.Balance(partitions)
	}
	found := plan{}
	for _, each := range into.IntoSyncAssignment() {
		var assigned kmsg.ConsumerMemberAssignment
		if err := assigned.ReadFrom(each.MemberAssignment); err != nil {
			return nil, err
		}
		found[each.MemberID] = map[string][]int32{}
		for _, topic := range assigned.Topics {
			found[each.MemberID][topic.Topic] = topic.Partitions
		}
	}
	return found, nil
}

// As consumerGroup.balance does it.
func ofSarama(asked request) (plan, error) {
	response := sarama.JoinGroupResponse{}
	for _, each := range asked.Members {
		response.Members = append(response.Members, sarama.GroupMember{
			MemberId: each.ID, GroupInstanceId: each.InstanceID, Metadata: each.Metadata,
		})
	}
	members, err := response.GetMembers()
	if err != nil {
		return nil, err
	}
	topics := map[string][]int32{}
	for _, each := range members {
		for _, topic := range each.Topics {
			if count, known := asked.Partitions[topic]; known {
				topics[topic] = upTo(count)
			}
		}
	}
	found, err := saramas[asked.Strategy]().Plan(members, topics)
	return plan(found), err
}

func upTo(count int32) []int32 {
	numbers := make([]int32, count)
	for number := range numbers {
		numbers[number] = int32(number)
	}
	return numbers
}

func names[V any](strategies map[string]V) []string {
	found := []string{}
	for _, name := range []string{"range", "roundrobin", "sticky", "cooperative-sticky"} {
		if _, has := strategies[name]; has {
			found = append(found, name)
		}
	}
	return found
}

func version(module string) string {
	info, _ := debug.ReadBuildInfo()
	for _, each := range info.Deps {
		if each.Path == module {
			return each.Version
		}
	}
	return "unknown"
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
