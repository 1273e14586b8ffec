"""Trains the network to tell points in the unit circle from others, and writes weights.pt."""

import torch
from model import network

torch.manual_seed(1)
points = torch.rand(4000, 2) * 3 - 1.5
inside = (points.norm(dim=1) < 1).long()
net = network()
optimizer = torch.optim.Adam(net.parameters(), 0.01)
for _ in range(400):
    loss = torch.nn.functional.cross_entropy(net(points), inside)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
torch.save(net.state_dict(), "weights.pt")
