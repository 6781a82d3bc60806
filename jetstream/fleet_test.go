package jetstream_test

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// fleet is a set of worker processes. When one ends, another replaces it.
type fleet struct {
	t    *testing.T
	env  []string
	mu   sync.Mutex
	runs []*exec.Cmd
	over bool
	wait sync.WaitGroup
}

func (f *fleet) start() {
	cmd := exec.Command(os.Args[0])
	cmd.Env, cmd.Stderr = f.env, os.Stderr
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.over {
		return
	}
	require.NoError(f.t, cmd.Start())
	f.runs = append(f.runs, cmd)
	f.wait.Go(func() { _ = cmd.Wait() })
}

// kill kills one worker and starts another.
func (f *fleet) kill() { f.killAt(rand.Float64()) }

// killAt kills one worker and starts another. where is at least 0 and less than 1.
func (f *fleet) killAt(where float64) {
	f.mu.Lock()
	i := int(where * float64(len(f.runs)))
	victim := f.runs[i]
	f.runs = append(f.runs[:i], f.runs[i+1:]...)
	f.mu.Unlock()
	_ = victim.Process.Kill()
	f.start()
}

func (f *fleet) stop() {
	f.mu.Lock()
	f.over = true
	for _, cmd := range f.runs {
		_ = cmd.Process.Signal(syscall.SIGTERM)
	}
	f.mu.Unlock()
	f.wait.Wait()
}
