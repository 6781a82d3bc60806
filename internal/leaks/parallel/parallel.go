// Package parallel runs tests in parallel, and finds what they leave behind. It is separate from package leaks, because
// fakes would start later with the packages that it needs.
package parallel

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"runtime/pprof"
	"strconv"
	"time"

	"github.com/clichain/clichain/internal/leaks"
)

// Suite is the tests of a binary, such as a [testing.M].
type Suite interface{ Run() int }

// Tests returns m for tests that call [leaks.Check] and run in parallel. When all tests have ended, it compares the
// goroutines, descriptors and children of the process with those before the first test. If more remain, it prints them
// with the names of the tests and fails the run. Start permanent resources before, such as the watchdog of package
// proc.
//
// With -parallel 1, Check also finds the test that has left a descriptor or a child. With -fuzz, Tests returns m,
// because fuzzing keeps a goroutine for signals.
func Tests(m Suite) Suite {
	flag.Parse()
	if value("test.fuzz") != "" {
		return m
	}
	parallel := value("test.parallel")
	return tests{m, 10 * time.Second, parallel == "" || parallel == "1"}
}

// value returns the value of a flag, or "" if there is no such flag.
func value(name string) string {
	if f := flag.Lookup(name); f != nil {
		return f.Value.String()
	}
	return ""
}

// Default sets how many tests run at the same time. The flag -parallel of go test has precedence. Call it before the
// flags are parsed.
func Default(n int) {
	if err := flag.Set("test.parallel", strconv.Itoa(n)); err != nil {
		panic(err) // the program has no tests
	}
}

type tests struct {
	Suite
	wait   time.Duration
	serial bool // no two tests run at the same time
}

func (ts tests) Run() int {
	if !ts.serial {
		leaks.Attribute(labels{})
		defer leaks.Attribute(nil)
	}
	leaks.WarmUp()
	before := leaks.Count()
	code := ts.Suite.Run()
	if after := before.Wait(ts.wait); !after.Within(before) {
		fmt.Fprintf(os.Stderr, "clitest: leak after all tests: before %+v, now %+v\n%s",
			before, after, leaks.Evidence(before, after))
		return max(code, 1)
	}
	return code
}

// labels attributes goroutines by a label of the profiler, which they inherit from the goroutine that starts them.
type labels struct{}

// key is the key of that label.
const key = "clichain-leak-check"

// Begin implements [leaks.Attribution].
func (labels) Begin(name string) {
	ctx := context.Background()
	if name != "" {
		ctx = pprof.WithLabels(ctx, pprof.Labels(key, name))
	}
	pprof.SetGoroutineLabels(ctx)
}

// Stacks implements [leaks.Attribution].
func (labels) Stacks(name string) []byte {
	var all bytes.Buffer
	_ = pprof.Lookup("goroutine").WriteTo(&all, 1) // a Buffer accepts everything
	if name == "" {
		return all.Bytes()
	}
	var found []byte
	for stack := range bytes.SplitSeq(all.Bytes(), []byte("\n\n")) {
		if bytes.Contains(stack, fmt.Appendf(nil, "%q:%q", key, name)) {
			found = append(append(found, stack...), "\n\n"...)
		}
	}
	return found
}
