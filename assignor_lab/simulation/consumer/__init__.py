"""Consumer groups on a virtual clock, under the classic protocol and KIP-848."""
