package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"
)

// maxPrompt bounds what is read from stdin: far above what any model takes.
const maxPrompt = 64 << 20

// stdinPatience is how long stdin may stay silent before a person is told what
// is being waited for. Programs often start others with a stdin that they never
// close.
const stdinPatience = 3 * time.Second

// promptSource is where the prompt comes from.
type promptSource struct {
	text  string    // of the argument
	stdin io.Reader // nil: not asked for
	note  io.Writer
}

// promptSource decides, without reading anything, what the prompt is made of.
func (a *app) promptSource(args []string) (*promptSource, error) {
	s := &promptSource{note: a.err}
	terminal := isTerminal(a.in)
	switch {
	case len(args) == 0 && terminal:
		return nil, usagef("no prompt: give it as an argument, or on stdin")
	case len(args) == 0 || args[0] == "-":
		s.stdin = a.in
		return s, nil
	case strings.TrimSpace(args[0]) == "":
		return nil, usagef("the prompt is empty")
	}
	s.text = args[0]
	if !terminal {
		s.stdin = a.in
	}
	return s, nil
}

// read returns the prompt.
func (s *promptSource) read(ctx context.Context) (string, error) {
	if s.stdin == nil {
		return s.text, nil
	}
	data, err := s.readStdin(ctx)
	switch {
	case err != nil:
		return "", err
	case strings.TrimSpace(data) == "" && s.text == "":
		return "", usagef("the prompt on stdin is empty")
	case strings.TrimSpace(data) == "":
		return s.text, nil
	case s.text == "":
		return data, nil
	}
	return s.text + "\n\n" + data, nil
}

// readStdin reads to the end, or until ctx is done: the read itself cannot be
// ended, but the process is about to.
func (s *promptSource) readStdin(ctx context.Context) (string, error) {
	type result struct {
		data []byte
		err  error
	}
	done := make(chan result, 1)
	go func() {
		data, err := io.ReadAll(io.LimitReader(s.stdin, maxPrompt+1))
		done <- result{data, err}
	}()
	patience := time.NewTimer(stdinPatience)
	defer patience.Stop()
	for {
		select {
		case r := <-done:
			return checkStdin(r.data, r.err)
		case <-ctx.Done():
			return "", &statusError{exitInterrupted, context.Cause(ctx)}
		case <-patience.C:
			fmt.Fprintln(s.note, "clichain: waiting for the end of stdin (</dev/null where there is nothing to come)")
		}
	}
}

func checkStdin(data []byte, err error) (string, error) {
	switch {
	case err != nil:
		return "", usagef("cannot read stdin: %v", err)
	case len(data) > maxPrompt:
		return "", usagef("stdin is over %d MiB", maxPrompt>>20)
	}
	return string(data), nil
}
