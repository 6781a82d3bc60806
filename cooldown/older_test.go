package cooldown

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
)

// The store can read the file of a version without State.Requests, and keeps Requests in a later update.
func TestStoreFileOfOlderVersion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cooldowns.json")
	at := time.Now().UTC().Round(0)
	old := fmt.Sprintf(`{"version": 1, "cooldowns": {"a": {"reason": "exit", "failures": 2, "at": %q}}}`, at.Format(time.RFC3339Nano))
	require.NoError(t, os.WriteFile(path, []byte(old), 0o600))
	s, _ := fileStore(t, path)
	state, err := s.Load(t.Context(), "a")
	require.NoError(t, err)
	require.Equal(t, State{Reason: call.ReasonExit, Failures: 2, At: at}, state)

	state.Failures, state.Requests = 3, "0123456789abcdef"
	require.NoError(t, s.Update(t.Context(), "a", put(state)))
	again, err := s.Load(t.Context(), "a")
	require.NoError(t, err)
	require.Equal(t, state, again)
	var kept struct{ Version int }
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &kept))
	require.Equal(t, 1, kept.Version, "an older version can still read it")
}
