// Package cluster runs the servers that are measured: three processes of this
// very program, on ports of this machine, with data in folders of their own.
// They are asked by lines of JSON over their standard input and output, and end
// with it.
package cluster
