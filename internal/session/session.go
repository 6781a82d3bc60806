package session

import (
	"strings"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/plaintext"
)

// Handle is what a handle says: "backend:id", then ";" and what the session
// had used, then "@" and a directory. Whose session it is, so that a chain
// never offers it to another backend; what to take from the CLI's counts, which
// go on; and where it was made, because some CLIs find it nowhere else.
type Handle struct{ Backend, ID, Base, Dir string }

func (s Handle) String() string {
	if s.ID == "" {
		return ""
	}
	handle := s.Backend + ":" + s.ID
	if s.Base != "" {
		handle += ";" + s.Base
	}
	if s.Dir != "" {
		handle += "@" + s.Dir
	}
	return handle
}

func Parse(handle string) (Handle, bool) {
	backend, rest, _ := strings.Cut(handle, ":")
	rest, dir, _ := strings.Cut(rest, "@")
	id, base, _ := strings.Cut(rest, ";")
	return Handle{backend, id, base, dir}, backend != "" && id != ""
}

// Rebase turns a run's counts into those of this call alone.
func Rebase(r clispec.SessionRules, u call.Usage, handle string) call.Usage {
	if handle == "" || len(r.Cumulative) == 0 {
		return u
	}
	s, _ := Parse(handle)
	return rebased(u, r.Cumulative, decodeBase(s.Base))
}

// Dir is the directory to work in: the request's, else that of its session.
func Dir(req call.Request) string {
	if s, ok := Parse(req.Session); ok && req.Dir == "" {
		return s.Dir
	}
	return req.Dir
}

// Takes reports whether an id may be a session's.
func Takes(r clispec.SessionRules, id string) bool {
	return r.ID == "" || plaintext.Whole(r.ID).MatchString(id)
}
