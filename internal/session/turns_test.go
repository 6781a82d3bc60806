package session

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTurnsOfSession(t *testing.T) {
	turns := sessionTurns{waiting: map[string]*sessionTurn{}}
	release, err := turns.Take(t.Context(), "codex.MQ")
	require.NoError(t, err)
	other, err := turns.Take(t.Context(), "codex.Mg")
	require.NoError(t, err, "another session does not wait")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = turns.Take(ctx, "codex.MQ")
	require.ErrorIs(t, err, context.Canceled)
	release()
	again, err := turns.Take(t.Context(), "codex.MQ")
	require.NoError(t, err)
	again()
	other()
	require.Empty(t, turns.waiting, "no entry remains for a session without calls")
	none, err := turns.Take(t.Context(), "")
	require.NoError(t, err)
	none()
}
