from __future__ import annotations

#: The recorded applications.
ORDERS = """\
Topologies:
   Sub-topology: 0
    Source: KSTREAM-SOURCE-0000000000 (topics: [orders-in])
      --> latest-writer, counter
    Processor: counter (stores: [counts])
      --> by-city-select
      <-- KSTREAM-SOURCE-0000000000
    Processor: latest-writer (stores: [latest])
      --> none
      <-- KSTREAM-SOURCE-0000000000
    Processor: by-city-select (stores: [])
      --> by-city-sink
      <-- counter
    Sink: by-city-sink (topic: by-city-repartition)
      <-- by-city-select

  Sub-topology: 1
    Source: by-city-source (topics: [by-city-repartition])
      --> city-counter
    Processor: city-counter (stores: [cities])
      --> none
      <-- by-city-source

  Sub-topology: 2
    Source: KSTREAM-SOURCE-0000000010 (topics: [notes-in])
      --> KSTREAM-PEEK-0000000011
    Processor: KSTREAM-PEEK-0000000011 (stores: [])
      --> none
      <-- KSTREAM-SOURCE-0000000010

"""

GLOBAL = """\
Topologies:
   Sub-topology: 0 for global store (will not generate tasks)
    Source: countries-source (topics: [countries])
      --> countries-processor
    Processor: countries-processor (stores: [countries-store])
      --> none
      <-- countries-source
  Sub-topology: 1
    Source: KSTREAM-SOURCE-0000000003 (topics: [orders-in, refunds-in])
      --> join
    Processor: join (stores: [countries-store])
      --> none
      <-- KSTREAM-SOURCE-0000000003
"""

PATTERN = """\
Topology: shop:
   Sub-topology: 0
    Source: KSTREAM-SOURCE-0000000000 (topics: orders-.*)
      --> none
"""
