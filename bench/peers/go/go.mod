module serving-bench

go 1.22
