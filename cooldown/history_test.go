package cooldown

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/internal/history"
)

var historyProcesses = flag.Int("history-processes", 3, "how many processes each of the 8 clients of TestFileIsLinearizable has in turn")

// historyRole is a variable with the path of a store file. A process of this test binary that has it reads and
// updates states, and records both, until it has done enough or kills itself.
const historyRole = "CLICHAIN_TEST_HISTORY"

const (
	historyKeys       = 3
	historyOperations = 30 // of one process
)

// access is one operation on a state: a load, or an update to a value.
type access struct {
	Key    int    `json:"key"`
	Update string `json:"update,omitempty"`
}

type accesses []history.Operation[access, string]

// register is the specification of a state: an access returns the value of the last update before it. An update
// without an end takes effect later or never, which is the same as after all others.
var register = porcupine.Model{
	Init: func() any { return "" },
	Step: func(state, input, output any) (bool, any) {
		value, in, out := state.(string), input.(access), output.(*string)
		if in.Update != "" {
			return out == nil || *out == value, in.Update
		}
		return out == nil || *out == value, value
	},
}

// record is a process of TestFileIsLinearizable.
func record(path string) {
	l := history.New(path + ".history")
	self, err := os.FindProcess(os.Getpid())
	must(err)
	s, ctx := NewFile(path, func(err error) { panic(err) }), context.Background()
	for range historyOperations {
		if rand.IntN(20) == 0 {
			time.AfterFunc(rand.N(2*time.Millisecond), func() { _ = self.Kill() })
		}
		key := rand.IntN(historyKeys)
		if rand.IntN(2) == 0 {
			end := l.Begin(access{Key: key})
			state, err := s.Load(ctx, fmt.Sprint(key))
			must(err)
			end(state.Requests)
			continue
		}
		value, before, changed := fmt.Sprint(rand.Uint64()), "", false // no other update has this value
		end := l.Begin(access{Key: key, Update: value})
		update := func(old State) State {
			next := aState(1)
			before, changed, next.Requests = old.Requests, true, value
			return next
		}
		for err = s.Update(ctx, fmt.Sprint(key), update); errors.Is(err, context.DeadlineExceeded) && !changed; {
			err = s.Update(ctx, fmt.Sprint(key), update) // the lock was busy
		}
		must(err)
		end(before)
	}
	os.Exit(0)
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// Eight clients, whose processes are killed, update and read the same states. An order of all operations explains what
// each of them returned, so no update is lost, and no reader sees an old value.
func TestFileIsLinearizable(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "cooldowns.json")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range *historyProcesses {
				cmd := exec.Command(os.Args[0], "-test.run=^$")
				cmd.Env = append(os.Environ(), historyRole+"="+path, "GORACE=atexit_sleep_ms=0")
				cmd.Stderr = os.Stderr
				err := cmd.Run()
				if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 2 { // a panic
					t.Error("a process failed:", err)
				}
			}
		})
	}
	all.Wait()
	operations, err := history.Read[access, string](path + ".history")
	require.NoError(t, err)
	unfinished := 0
	for _, o := range operations {
		if o.Output == nil {
			unfinished++
		}
	}
	t.Logf("%d operations, %d of them without an end", len(operations), unfinished)
	require.NotEmpty(t, operations)
	require.Empty(t, unexplained(operations), "keys whose operations no order explains")
	require.NotEmpty(t, unexplained(append(operations, lostUpdate(operations))), "a planted lost update")
}

// lostUpdate returns a later update that does not see the last one of its state.
func lostUpdate(operations accesses) history.Operation[access, string] {
	return history.Operation[access, string]{
		Input: access{Key: operations[0].Input.Key, Update: "planted"}, Output: new("lost"),
		Begin: math.MaxInt64 - 2, End: math.MaxInt64 - 1,
	}
}

// unexplained returns the keys whose operations no order explains.
func unexplained(operations accesses) (keys []int) {
	for key := range historyKeys {
		var list []porcupine.Operation
		for _, o := range operations {
			if o.Input.Key == key {
				list = append(list, porcupine.Operation{
					ClientId: o.Process, Input: o.Input, Output: o.Output, Call: o.Begin, Return: o.End,
				})
			}
		}
		if !porcupine.CheckOperations(register, list) {
			keys = append(keys, key)
		}
	}
	return keys
}

// The specification accepts what a store may do, and rejects each planted violation.
func TestFileSpecification(t *testing.T) {
	t.Parallel()
	update := func(value, before string, begin, end int64) history.Operation[access, string] {
		return history.Operation[access, string]{Input: access{Update: value}, Output: &before, Begin: begin, End: end}
	}
	load := func(value string, begin, end int64) history.Operation[access, string] {
		return update("", value, begin, end)
	}
	killed := update("k", "", 1, math.MaxInt64)
	killed.Output = nil
	for name, test := range map[string]struct {
		operations accesses
		ok         bool
	}{
		"in turn":                  {accesses{update("a", "", 1, 2), update("b", "a", 3, 4), load("b", 5, 6)}, true},
		"at the same time":         {accesses{update("a", "b", 1, 3), update("b", "", 2, 4), load("a", 5, 6)}, true},
		"killed before its effect": {accesses{killed, update("a", "", 2, 3), load("a", 4, 5)}, true},
		"killed after its effect":  {accesses{killed, update("a", "k", 2, 3), load("a", 4, 5)}, true},
		"lost update":              {accesses{update("a", "", 1, 3), update("b", "", 2, 4)}, false},
		"old value":                {accesses{update("a", "", 1, 2), load("", 3, 4)}, false},
		"value that nobody wrote":  {accesses{update("a", "", 1, 2), load("b", 3, 4)}, false},
		"effect comes and goes":    {accesses{killed, load("k", 2, 3), load("", 4, 5)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, test.ok, len(unexplained(test.operations)) == 0)
		})
	}
}
