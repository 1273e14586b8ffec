module publicbench

go 1.24
