package compose

import (
	"path/filepath"
	"strings"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/session"
)

// setSession takes the handle apart and refuses what the CLI would not go on
// from, or would not find.
func (c *Call) setSession(spec *clispec.Spec, req call.Request, dir string) *call.Error {
	if req.Session == "" {
		return nil
	}
	s, ok := session.Parse(req.Session)
	switch {
	case !ok:
		return call.Errorf(call.ReasonBadSession, "session", "%q is no session: use the Session of a Response", req.Session)
	case s.Backend != spec.Name:
		return call.Errorf(call.ReasonUnsupported, "session", "%q belongs to %s", req.Session, s.Backend)
	case strings.HasPrefix(s.ID, "-") || !session.Takes(spec.Sessions, s.ID):
		return call.Errorf(call.ReasonBadSession, "session", "%q is no id of a session of %s: use the Session of a Response", s.ID, spec.Name)
	case spec.Sessions.DirBound && s.Dir != "" && dir != "" && filepath.Clean(dir) != filepath.Clean(s.Dir):
		return call.Errorf(call.ReasonBadSession, "session", "it was made in %q, and cannot be gone on from in %q: leave Dir empty", s.Dir, dir)
	}
	c.Fields.Set("session", s.ID)
	return nil
}
