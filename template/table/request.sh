curl -d '[{"area": 80, "rooms": 3}]' localhost:3000/price
# [{"area":80.0,"rooms":3,"price":295000.0}]
