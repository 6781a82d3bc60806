package permit_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/permit"
)

// A thread names a session, which may be that of another user.
func TestThreadsNeedSessions(t *testing.T) {
	req := call.Prompt("hi")
	req.Threads = []call.Thread{{Backend: "claude", Session: "claude.YQ"}}
	_, err := (&permit.Permissions{}).Apply(req)
	require.ErrorIs(t, err, call.ErrPermissionRefused)
	require.ErrorContains(t, err, "threads")
	_, err = (&permit.Permissions{Sessions: true}).Apply(req)
	require.NoError(t, err)

	req.Access = call.AccessRead
	_, err = (&permit.Permissions{Sessions: true, Access: call.AccessRead}).Apply(req)
	require.ErrorIs(t, err, call.ErrPermissionRefused)
	require.ErrorContains(t, err, "must have a directory")
}
