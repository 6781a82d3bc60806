package live

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
)

// Before an item, a loop yields the states that the session had before the item, and no later ones.
func TestReaderStatesBeforeItem(t *testing.T) {
	t.Parallel()
	s := New(calling(nil).Provider, nil)
	r := s.join()
	s.mu.Lock()
	s.set(Starting)
	before := s.changes
	s.set(Running)
	s.mu.Unlock()
	var states []string
	yield := func(e clichain.Event, err error) bool {
		require.NoError(t, err)
		states = append(states, e.Text)
		return len(states) < 3
	}
	require.True(t, s.yieldStates(r, before, yield))
	require.Equal(t, []string{"created", "starting"}, states)
	require.False(t, s.yieldStates(r, before+1, yield), "the loop has ended")
	require.Equal(t, []string{"created", "starting", "running"}, states)
}

func TestReaderLeaves(t *testing.T) {
	t.Parallel()
	s := New(calling(nil).Provider, nil)
	first, second, third := s.join(), s.join(), s.join()
	s.leave(second)
	require.Equal(t, []*reader{first, third}, s.readers)
	<-second.left
}
