// Lets the assignment strategy of KafkaJS answer requests: one JSON document per line on the standard input, one answer
// per line on the standard output. The first line out names the library with its version.
import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'

const require = createRequire(process.argv[2] ? `${resolve(process.argv[2])}/` : import.meta.url)
const { AssignerProtocol, PartitionAssigners } = require('kafkajs')
const { version } = require('kafkajs/package.json')

// As ConsumerGroup[PRIVATE.SYNC] does it: the leader, the first member, passes its own topics.
const answered = async ({ partitions, members }) => {
  const cluster = {
    findTopicPartitionMetadata: topic =>
      Array.from({ length: partitions[topic] ?? 0 }, (_, partitionId) => ({ partitionId })),
  }
  const joined = members.map(({ id, metadata }) => ({
    memberId: id,
    memberMetadata: Buffer.from(metadata, 'base64'),
  }))
  const { topics } = AssignerProtocol.MemberMetadata.decode(joined[0].memberMetadata)
  const assignment = await PartitionAssigners.roundRobin({ cluster }).assign({ members: joined, topics })
  const found = {}
  for (const { memberId, memberAssignment } of assignment) {
    found[memberId] = AssignerProtocol.MemberAssignment.decode(memberAssignment).assignment
  }
  return { members: found }
}

console.log(JSON.stringify({ libraries: { kafkajs: { version, strategies: ['roundrobin'] } } }))
for await (const line of createInterface({ input: process.stdin })) {
  let answer
  try {
    answer = await answered(JSON.parse(line))
  } catch (error) {
    answer = { error: `${error.name}: ${error.message}` }
  }
  console.log(JSON.stringify(answer))
}
