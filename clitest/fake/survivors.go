package fake

import (
	"fmt"
	"os"
	"time"

	"github.com/clichain/clichain/internal/leaks"
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
	leaks.Check(t, 10*time.Second)
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
