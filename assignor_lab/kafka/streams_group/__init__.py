"""The broker's side of the streams protocol (KIP-1071): epochs, targets, and how members walk towards them."""
