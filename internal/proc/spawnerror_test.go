package proc

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSpawnError(t *testing.T) {
	cause := errors.New("why")
	err := &SpawnError{Kind: Resource, Path: "/bin/x", Err: cause}
	require.EqualError(t, err, "proc: start /bin/x: resource: why")
	require.ErrorIs(t, err, cause)
	require.True(t, err.Retryable())
	require.Same(t, err, spawnError("", err), "already classified")
	require.Equal(t, Other, spawnError("", cause).Kind)
	for _, errno := range busyErrnos {
		require.Equal(t, Resource, spawnError("", errno).Kind, "%v", errno) // cases 11, 12
	}
}
