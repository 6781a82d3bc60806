package fake

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// Survivor is a process of a fake that is still running.
type Survivor struct {
	Pid  int
	Args []string
}

// String names the process in a test's message.
func (s Survivor) String() string { return fmt.Sprintf("%d %q", s.Pid, s.Args) }

// NoLeaks makes the test fail if, at its end, the process has more goroutines, open descriptors or children than now.
// It waits up to ten seconds for them to go. The counts are those of the whole process, so the test must not run in
// parallel with others. Descriptors and children are counted on Linux only.
func NoLeaks(t TB) {
	t.Helper()
	noLeaks(t, 10*time.Second)
}

func noLeaks(t TB, wait time.Duration) {
	t.Helper()
	warmUp()
	before := count()
	t.Cleanup(func() {
		t.Helper()
		var after counts
		for end := time.Now().Add(wait); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
			if after = count(); after.within(before) {
				return
			}
		}
		t.Errorf("clitest: leak: before %+v, now %+v\n%s", before, after, evidence(before, after))
	})
}

type counts struct{ Goroutines, Files, Children int }

func (c counts) within(limit counts) bool {
	return c.Goroutines <= limit.Goroutines && c.Files <= limit.Files && c.Children <= limit.Children
}

func count() counts { return counts{runtime.NumGoroutine(), len(openFiles()), len(children())} }

// warmUp makes the runtime open what it keeps, such as the poller's descriptors.
func warmUp() {
	if r, w, err := os.Pipe(); err == nil {
		_ = r.Close()
		_ = w.Close()
	}
}

// children lists the children of this process, those that have ended but were not waited for included.
func children() []string {
	var pids []string
	lists, _ := filepath.Glob("/proc/self/task/*/children") // the pattern is well formed
	for _, name := range lists {
		if data, err := os.ReadFile(name); err == nil {
			pids = append(pids, strings.Fields(string(data))...)
		}
	}
	return pids
}

func evidence(before, after counts) string {
	var b strings.Builder
	if after.Files > before.Files {
		fmt.Fprintf(&b, "files: %q\n", openFiles())
	}
	if after.Children > before.Children {
		fmt.Fprintf(&b, "children: %v\n", children())
	}
	if after.Goroutines > before.Goroutines {
		stacks := make([]byte, 1<<20)
		b.Write(stacks[:runtime.Stack(stacks, true)])
	}
	return b.String()
}
