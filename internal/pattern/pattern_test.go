package pattern_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/internal/pattern"
)

func TestPatternIsCompiledOnce(t *testing.T) {
	compiled := pattern.Of(`^a+$`)
	var all sync.Map
	var calls sync.WaitGroup
	for range 8 {
		calls.Go(func() { all.Store(compiled(), true) })
	}
	calls.Wait()
	count := 0
	all.Range(func(any, any) bool { count++; return true })
	require.Equal(t, 1, count)
	require.True(t, compiled().MatchString("aa"))
	require.False(t, compiled().MatchString("ab"))
}

// An invalid expression causes no panic until its first use.
func TestInvalidPattern(t *testing.T) {
	compiled := pattern.Of(`(`)
	require.Panics(t, func() { compiled() })
}
