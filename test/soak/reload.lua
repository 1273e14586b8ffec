wrk.method = "POST"
wrk.body = "[[5.1, 3.5, 1.4, 0.2]]"
wrk.headers["content-type"] = "application/json"
