// Command testreport prints the output of go test -json as go test prints it, and then the number of skipped tests with
// what they lacked:
//
//	go test -json work | go run ./internal/testreport
//
// It fails if a test failed, if no test ran, or if a test skipped for a reason that it does not know.
package main

import (
	"fmt"
	"os"
)

func main() {
	r := newReport(os.Stdout)
	if err := r.read(os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "testreport:", err)
		os.Exit(1)
	}
	if err := r.end(); err != nil {
		fmt.Fprintln(os.Stderr, "testreport:", err)
		os.Exit(1)
	}
}
