package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"
)

// maxPrompt is the limit for stdin, far above what any model takes.
const maxPrompt = 64 << 20

// stdinNotice is how long stdin may stay silent before a note on stderr says what the command waits for. Programs often
// start others with a stdin that they never close.
const stdinNotice = 3 * time.Second

// promptSource is where the prompt comes from.
type promptSource struct {
	text  string    // the argument
	stdin io.Reader // nil when stdin is not part of the prompt
	note  io.Writer
}

// promptSource decides, without reading anything, whether the prompt is the argument, stdin or both.
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

func (s *promptSource) read(ctx context.Context) (string, error) {
	if s.stdin == nil {
		return s.text, nil
	}
	data, err := s.readStdin(ctx)
	blank := strings.TrimSpace(data) == ""
	switch {
	case err != nil:
		return "", err
	case blank && s.text == "":
		return "", usagef("the prompt on stdin is empty")
	case blank:
		return s.text, nil
	case s.text == "":
		return data, nil
	}
	return s.text + "\n\n" + data, nil
}

// readStdin reads to the end, or until ctx is done. The read itself cannot be interrupted, but the process ends then.
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
	notice := time.NewTimer(stdinNotice)
	defer notice.Stop()
	for {
		select {
		case r := <-done:
			return checkStdin(r.data, r.err)
		case <-ctx.Done():
			return "", &statusError{exitInterrupted, context.Cause(ctx)}
		case <-notice.C:
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
