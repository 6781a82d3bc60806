package clichain

import (
	"path/filepath"
	"strings"
)

// session is what a handle says: "backend:id", then ";" and what the session
// had used, then "@" and a directory. Whose session it is, so that a chain
// never offers it to another backend; what to take from the CLI's counts, which
// go on; and where it was made, because some CLIs find it nowhere else.
type session struct{ Backend, ID, Base, Dir string }

func (s session) String() string {
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

func parseSession(handle string) (session, bool) {
	backend, rest, _ := strings.Cut(handle, ":")
	rest, dir, _ := strings.Cut(rest, "@")
	id, base, _ := strings.Cut(rest, ";")
	return session{backend, id, base, dir}, backend != "" && id != ""
}

// rebase turns a run's counts into those of this call alone.
func rebase(r SessionRules, u Usage, handle string) Usage {
	if handle == "" || len(r.Cumulative) == 0 {
		return u
	}
	s, _ := parseSession(handle)
	return rebased(u, r.Cumulative, decodeBase(s.Base))
}

// dirFor is the directory to work in: the request's, else that of its session.
func dirFor(req Request) string {
	if s, ok := parseSession(req.Session); ok && req.Dir == "" {
		return s.Dir
	}
	return req.Dir
}

// setSession takes the handle apart and refuses what the CLI would not go on
// from, or would not find.
func (c *Call) setSession(spec *CliSpec, req Request, dir string) *BackendError {
	if req.Session == "" {
		return nil
	}
	s, ok := parseSession(req.Session)
	switch {
	case !ok:
		return errorf(ReasonBadSession, "session", "%q is no session: use the Session of a Response", req.Session)
	case s.Backend != spec.Name:
		return errorf(ReasonUnsupported, "session", "%q belongs to %s", req.Session, s.Backend)
	case strings.HasPrefix(s.ID, "-") || !takes(spec.Sessions, s.ID):
		return errorf(ReasonBadSession, "session", "%q is no id of a session of %s: use the Session of a Response", s.ID, spec.Name)
	case spec.Sessions.DirBound && s.Dir != "" && dir != "" && filepath.Clean(dir) != filepath.Clean(s.Dir):
		return errorf(ReasonBadSession, "session", "it was made in %q, and cannot be gone on from in %q: leave Dir empty", s.Dir, dir)
	}
	c.Fields.set("session", s.ID)
	return nil
}

// takes reports whether an id may be a session's.
func takes(r SessionRules, id string) bool {
	return r.ID == "" || wholeValue(r.ID).MatchString(id)
}
