package history

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history")
	l := New(path)
	first := l.Begin("a")
	second := l.Begin("b")
	second(2)
	first(1)
	l.Begin("c")
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString(`{"process":1,"oper`) // of a machine that lost its power
	require.NoError(t, err)
	require.NoError(t, f.Close())

	got, err := Read[string, int](path)
	require.NoError(t, err)
	require.Equal(t, []Operation[string, int]{
		{Process: l.process, Input: "a", Output: new(1), Begin: 0, End: 3},
		{Process: l.process, Input: "b", Output: new(2), Begin: 1, End: 2},
		{Process: l.process, Input: "c", Begin: 4, End: math.MaxInt64},
	}, got)
}

func TestReadRefusesContradictions(t *testing.T) {
	for name, text := range map[string]string{
		"end without a begin": `{"process":1,"operation":1,"output":1}`,
		"second begin":        `{"process":1,"operation":1,"input":"a"}` + "\n" + `{"process":1,"operation":1,"input":"a"}`,
		"second end": `{"process":1,"operation":1,"input":"a"}` + "\n" + `{"process":1,"operation":1,"output":1}` +
			"\n" + `{"process":1,"operation":1,"output":1}`,
		"other type": `{"process":1,"operation":1,"input":1}`,
		"no JSON":    `{`,
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "history")
			require.NoError(t, os.WriteFile(path, []byte(text+"\n"), 0o600))
			_, err := Read[string, int](path)
			require.Error(t, err)
		})
	}
}

// Logs keep lines whole, and their operations apart, as do processes that had the same ID one after the other.
func TestLogsOfOneFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history")
	var all sync.WaitGroup
	for i := range 8 {
		l := New(path)
		all.Go(func() {
			for n := range 50 {
				l.Begin(fmt.Sprint(i))(n)
			}
		})
	}
	all.Wait()
	got, err := Read[string, int](path)
	require.NoError(t, err)
	require.Len(t, got, 400)
	for _, o := range got {
		require.NotNil(t, o.Output)
		require.Less(t, o.Begin, o.End)
	}
}
