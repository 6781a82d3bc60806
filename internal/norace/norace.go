// Package norace builds programs without the race detector for tests that run with it. The start of a program with the
// race detector takes about 20 ms of CPU time, and tests start thousands of fakes.
package norace

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
)

// Times returns how often a test repeats a step that the race detector slows down tenfold: times, or few with the race
// detector.
func Times(times, few int) int {
	if Race {
		return few
	}
	return times
}

// playerSource is the source of the player.
const playerSource = `package main

import "github.com/clichain/clichain/clitest/fake"

func main() { fake.Main() }
`

// Run returns the result of run, which runs the tests of a process. With the race detector, another program without it
// plays the fakes meanwhile. If the go command cannot build that program, the program of this process plays them. The variable CLITEST_PLAYER turns this on if it is "build".
func Run(run func() int) int {
	if !Race || os.Getenv("CLITEST_PLAYER") != "build" {
		return run()
	}
	dir, err := os.MkdirTemp("", "clichain-player-")
	if err != nil {
		_ = os.Unsetenv("CLITEST_PLAYER")
		return run()
	}
	defer os.RemoveAll(dir)
	source, program := filepath.Join(dir, "main.go"), filepath.Join(dir, "player.test")
	_ = os.Unsetenv("CLITEST_PLAYER")
	if err := os.WriteFile(source, []byte(playerSource), 0o600); err == nil && Build(program, source) == nil {
		_ = os.Setenv("CLITEST_PLAYER", program) // fails only for an invalid name
	}
	return run()
}

// Build builds a program without the race detector. pkg is a package or a Go file.
func Build(program, pkg string) error {
	cmd := exec.Command("go", "build", "-ldflags=-s -w", "-buildvcs=false", "-o", program, pkg)
	if out, err := cmd.CombinedOutput(); err != nil {
		return errors.Join(err, errors.New(string(out)))
	}
	return nil
}
