package session_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/internal/chaintest"
	"github.com/clichain/clichain/specs"
)

// A session made without access is not continued in a directory by a CLI that would not find it there, nor the other
// way round.
func TestSessionsOfOtherAccess(t *testing.T) {
	clitest.NoLeaks(t)
	chaintest.FreshState(t)
	p := chaintest.Provider(t, specs.Gemini(), clichain.Config{}, chaintest.Play(chaintest.ReadStdin,
		chaintest.Stdout(`{"type":"init","session_id":"`+chaintest.AnID+`"}`+"\n"+`{"type":"message","role":"assistant","content":"ok"}`+"\n"+`{"type":"result","status":"success"}`+"\n")))
	sessionOf := func(access clichain.Access, dir string) string {
		req := clichain.Prompt("hi")
		req.Access, req.Dir = access, dir
		resp, err := p.Complete(t.Context(), req)
		require.NoError(t, err)
		require.NotEmpty(t, resp.Session)
		return resp.Session
	}
	dir := t.TempDir()
	none := func() string { return sessionOf(clichain.AccessNone, "") }
	read := func() string { return sessionOf(clichain.AccessRead, dir) }
	for _, test := range []struct {
		name   string
		first  func() string // makes the session
		access clichain.Access
		says   string
	}{
		{"none", none, clichain.AccessNone, ""},
		{"read", read, clichain.AccessRead, ""},
		{"none, then read", none, clichain.AccessRead, "set Access to AccessNone"},
		{"read, then none", read, clichain.AccessNone, "set Access to AccessRead or more"},
	} {
		t.Run(test.name, func(t *testing.T) {
			req := clichain.Prompt("and?")
			req.Access, req.Session = test.access, test.first()
			_, err := p.Complete(t.Context(), req)
			if test.says == "" {
				require.NoError(t, err)
				return
			}
			require.Contains(t, chaintest.RequireReason(t, clichain.ReasonBadSession, err).HintText(), test.says)
		})
	}
}
