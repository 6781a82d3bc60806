package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/clichain/clichain/internal/pattern"
)

// event is a line of go test -json; see "go doc test2json".
type event struct {
	Action, Package, Test, Output string
}

// report is the result of a run of go test.
type report struct {
	out     io.Writer
	output  map[[2]string][]string // of a test that runs, by package and test
	ran     int
	failed  bool
	skips   map[string]int // by cause
	unknown []string       // skips without a known cause
}

func newReport(out io.Writer) *report {
	return &report{out: out, output: map[[2]string][]string{}, skips: map[string]int{}}
}

// read reads events to the end. It prints a line that is no event, such as an error of the compiler.
func (r *report) read(in io.Reader) error {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			var e event
			if json.Unmarshal([]byte(line), &e) != nil {
				fmt.Fprint(r.out, line)
			} else {
				r.add(e)
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (r *report) add(e event) {
	key := [2]string{e.Package, e.Test}
	switch e.Action {
	case "output", "build-output":
		if e.Test == "" {
			if e.Output != "PASS\n" && !strings.HasPrefix(e.Output, "testing: warning") {
				fmt.Fprint(r.out, e.Output)
			}
			return
		}
		r.output[key] = append(r.output[key], e.Output)
		return
	case "fail", "build-fail":
		r.failed = true
		for _, text := range r.output[key] {
			fmt.Fprint(r.out, text)
		}
	case "skip":
		if e.Test != "" {
			r.skip(e, r.output[key])
		}
	case "pass":
	default:
		return
	}
	if e.Test != "" {
		r.ran++
	}
	delete(r.output, key)
}

// message is a line that a test printed.
var message = pattern.Of(`^\s+\w+\.go:\d+: (.*)`)

func (r *report) skip(e event, output []string) {
	var text string
	for _, line := range output {
		if m := message().FindStringSubmatch(line); m != nil {
			text = m[1]
		}
	}
	cause := causeOf(text)
	if cause == "" {
		r.unknown = append(r.unknown, fmt.Sprintf("%s %s: %q", e.Package, e.Test, text))
		return
	}
	r.skips[cause]++
}

// end prints the skipped tests, and returns why the run failed, if it did.
func (r *report) end() error {
	total, parts := len(r.unknown), []string{}
	for _, cause := range slices.Sorted(maps.Keys(r.skips)) {
		total += r.skips[cause]
		parts = append(parts, fmt.Sprintf("%s %d", cause, r.skips[cause]))
	}
	fmt.Fprintf(r.out, "%d tests, %d of them skipped for want of: %s\n", r.ran, total, strings.Join(parts, ", "))
	switch {
	case len(r.unknown) > 0:
		return fmt.Errorf("add the cause of these skips to internal/testreport/causes.go:\n%s", strings.Join(r.unknown, "\n"))
	case r.failed:
		return errors.New("a test failed")
	case r.ran == 0:
		return errors.New("no test ran: pipe the output of go test -json into this program")
	}
	return nil
}
