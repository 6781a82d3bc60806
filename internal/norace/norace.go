// Package norace lets tests do less of what the race detector slows down most.
package norace

import (
	"errors"
	"os/exec"
)

// Times returns how often a test repeats a step that the race detector slows down tenfold: times, or few with the race
// detector.
func Times(times, few int) int {
	if Race {
		return few
	}
	return times
}

// Build builds a program without the race detector. pkg is a package or a Go file.
func Build(program, pkg string) error {
	cmd := exec.Command("go", "build", "-ldflags=-s -w", "-buildvcs=false", "-o", program, pkg)
	if out, err := cmd.CombinedOutput(); err != nil {
		return errors.Join(err, errors.New(string(out)))
	}
	return nil
}
