curl -d '[[5.1, 3.5, 1.4, 0.2]]' localhost:3000/classify
# ["setosa"]
