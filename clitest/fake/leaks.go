package fake

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// Survivor is a running process of a fake.
type Survivor struct {
	Pid  int
	Args []string
}

// String identifies the process in the message of a test.
func (s Survivor) String() string { return fmt.Sprintf("%d %q", s.Pid, s.Args) }

// NoLeaks fails the test if the process has more goroutines, open descriptors or children at the end of the test than
// now. It waits up to ten seconds for them to end. The counts are those of the whole process, so the test must not run
// in parallel with others. NoLeaks counts descriptors and children only on Linux.
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

// warmUp makes the runtime open the descriptors that it keeps, such as those of the poller.
func warmUp() {
	if r, w, err := os.Pipe(); err == nil {
		_ = r.Close()
		_ = w.Close()
	}
}

// children lists the children of this process, including zombies.
func children() []string {
	var pids []string
	lists, _ := filepath.Glob("/proc/self/task/*/children") // the pattern is valid
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

// killSurvivors kills processes until none remains, in at most a hundred rounds: a faster chain of new processes
// escapes.
func killSurvivors(token string) {
	for range 100 {
		found := Survivors(token)
		if len(found) == 0 {
			return
		}
		for _, s := range found {
			if p, err := os.FindProcess(s.Pid); err == nil {
				_ = p.Kill() // fails if the process has ended
				_ = p.Release()
			}
		}
	}
}
