package clitest

import "fmt"

// Survivor is a process of a fake that is still running.
type Survivor struct {
	Pid  int
	Args []string
}

// String names the process in a test's message.
func (s Survivor) String() string { return fmt.Sprintf("%d %q", s.Pid, s.Args) }
