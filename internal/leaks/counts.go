package leaks

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// Counts are the resources that this process has.
type Counts struct{ Goroutines, Files, Children int }

// Within reports whether no count exceeds that of limit.
func (c Counts) Within(limit Counts) bool {
	return c.Goroutines <= limit.Goroutines && c.Files <= limit.Files && c.Children <= limit.Children
}

// Count returns the counts of now. Those of descriptors and children are 0 without /proc.
func Count() Counts { return Counts{runtime.NumGoroutine(), len(OpenFiles()), len(children())} }

// WarmUp makes the runtime open the descriptors that it keeps, such as those of the poller.
func WarmUp() {
	if r, w, err := os.Pipe(); err == nil {
		_ = r.Close()
		_ = w.Close()
	}
}

// Wait waits until the counts are within c, or for wait, and returns them.
func (c Counts) Wait(wait time.Duration) (after Counts) {
	for end := time.Now().Add(wait); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		if after = Count(); after.Within(c) {
			break
		}
	}
	return after
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

// OpenFiles lists the open descriptors of this process and their targets. Without /proc, the list is empty.
func OpenFiles() (files []string) {
	entries, _ := os.ReadDir("/proc/self/fd")
	for _, e := range entries {
		if target, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil {
			files = append(files, e.Name()+" "+target)
		}
	}
	return files
}

// Evidence describes the resources of a kind of which there are more than before.
func Evidence(before, after Counts) string {
	var b strings.Builder
	if after.Files > before.Files {
		fmt.Fprintf(&b, "files: %q\n", OpenFiles())
	}
	if after.Children > before.Children {
		for _, pid := range children() {
			status, _ := os.ReadFile("/proc/" + pid + "/stat")       // the process may have ended
			arguments, _ := os.ReadFile("/proc/" + pid + "/cmdline") // empty if it is a zombie
			fmt.Fprintf(&b, "child: %.60q %q\n", status, arguments)
		}
	}
	if after.Goroutines > before.Goroutines {
		b.Write(stacks())
	}
	return b.String()
}

func stacks() []byte {
	if attribution != nil {
		return attribution.Stacks("")
	}
	all := make([]byte, 1<<20)
	return all[:runtime.Stack(all, true)]
}
