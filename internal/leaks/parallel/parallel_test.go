package parallel_test

import (
	"flag"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/clitest/fake"
	"github.com/clichain/clichain/internal/leaks"
	"github.com/clichain/clichain/internal/leaks/parallel"
)

func TestMain(m *testing.M) { os.Exit(fake.Run(m)) }

const wait = 200 * time.Millisecond

// trial is a TB that keeps its errors.
type trial struct {
	name    string
	errors  []any
	cleanup []func()
}

func (*trial) Helper()                         {}
func (tr *trial) Name() string                 { return tr.name }
func (tr *trial) Errorf(_ string, args ...any) { tr.errors = append(tr.errors, args...) }
func (tr *trial) Cleanup(f func())             { tr.cleanup = append(tr.cleanup, f) }
func (tr *trial) end()                         { tr.cleanup[0]() }
func (tr *trial) text(t *testing.T) string {
	require.Len(t, tr.errors, 1)
	return string(tr.errors[0].([]byte))
}
func begin(name string) *trial { tr := &trial{name: name}; leaks.Check(tr, wait); return tr }

// suite is a Suite of one function.
type suite func()

func (s suite) Run() int { s(); return 0 }

// leakGoroutines starts several goroutines, because those of an earlier test may count a moment longer.
func leakGoroutines() (undo func()) {
	stop, started := make(chan struct{}), make(chan struct{})
	var ended sync.WaitGroup
	for range 10 {
		ended.Go(func() {
			ended.Go(func() { started <- struct{}{}; <-stop }) // the second generation has the label, too
		})
		<-started
	}
	return func() { close(stop); ended.Wait() }
}

func TestCheckAmongParallelTests(t *testing.T) {
	var undo []func()
	code := parallel.RunFor(wait, suite(func() {
		leaky, clean := begin("TestLeaky"), make(chan *trial)
		undo = append(undo, leakGoroutines())
		go func() {
			other := begin("TestClean")
			undo = append(undo, leakGoroutines())
			other.end()
			clean <- other
		}()
		found := <-clean
		undo[0]()
		require.Contains(t, found.text(t), "leakGoroutines", "the stack")
		require.Contains(t, found.text(t), "TestClean#")
		require.NotContains(t, found.text(t), "TestLeaky#")
		leaky.end()
		require.Empty(t, leaky.errors)
	}))
	require.Equal(t, 1, code, "goroutines are left")
	undo[1]()
}

func TestTestsFindLeaks(t *testing.T) {
	for name, test := range map[string]struct {
		leak func(t *testing.T) (undo func())
		code int
	}{
		"nothing":     {func(*testing.T) func() { return func() {} }, 0},
		"a goroutine": {func(*testing.T) func() { return leakGoroutines() }, 1},
		"a file": {func(t *testing.T) func() {
			f, err := os.Open(os.DevNull)
			require.NoError(t, err)
			return func() { _ = f.Close() }
		}, 1},
		"a child": {func(t *testing.T) func() {
			cmd := exec.Command(fake.New(t, "fake", fake.Scenario{Steps: []fake.Step{{Hang: true}}}))
			require.NoError(t, cmd.Start())
			return func() { _, _ = cmd.Process.Kill(), cmd.Wait() }
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			var undo func()
			require.Equal(t, test.code, parallel.RunFor(wait, suite(func() { undo = test.leak(t) })))
			undo()
		})
	}
}

// The coordinator of fuzzing never stops to wait for signals.
func TestTestsLeaveFuzzingOut(t *testing.T) {
	require.IsNotType(t, suite(nil), parallel.Tests(suite(nil)))
	require.NoError(t, flag.Set("test.fuzz", "^FuzzRequest$"))
	t.Cleanup(func() { require.NoError(t, flag.Set("test.fuzz", "")) })
	require.IsType(t, suite(nil), parallel.Tests(suite(nil)))
}
