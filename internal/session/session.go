// Package session defines the handles of sessions, the records about them, and turns, which let one call at a time
// resume a session. It names no CLI and opens no file.
package session

import (
	"encoding/base64"
	"strings"

	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/pattern"
	"github.com/clichain/clichain/internal/plaintext"
)

// Handle identifies a session, as in Response.Session. It consists of the backend, so that a chain resumes the session
// only there, and the CLI's own id. A caller may get a handle from anywhere, so it contains nothing that must be
// trusted. The directory and the usage of the session are in this user's [Record].
type Handle struct{ Backend, ID string }

// String encodes the handle with letters, digits, ".", "_" and "-", so that a shell needs no quotes. It returns ""
// without an ID.
func (h Handle) String() string {
	if h.ID == "" {
		return ""
	}
	return h.Backend + "." + base64.RawURLEncoding.EncodeToString([]byte(h.ID))
}

// backendShape matches the name of a spec.
var backendShape = pattern.Of(`^[a-z0-9][a-z0-9._-]*$`)

// Parse parses a result of String, or "backend:id" with an id that the CLI has printed.
func Parse(handle string) (h Handle, ok bool) {
	if backend, id, told := strings.Cut(handle, ":"); told {
		h = Handle{Backend: backend, ID: id}
		if id == "" || !backendShape().MatchString(backend) {
			return Handle{}, false
		}
		return h, true
	}
	dot := max(strings.LastIndexByte(handle, '.'), 0) // the backend's name may contain dots
	id, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(handle[dot:], "."))
	h = Handle{Backend: handle[:dot], ID: string(id)}
	if err != nil || len(id) == 0 || !backendShape().MatchString(h.Backend) || h.String() != handle {
		return Handle{}, false
	}
	return h, true
}

// Takes reports whether an id has the form of this CLI's session ids. Such an id is a valid argument and never looks
// like a flag.
func Takes(r clispec.SessionRules, id string) bool {
	return !strings.HasPrefix(id, "-") && plaintext.Problem(id) == "" &&
		(r.ID == "" || plaintext.Whole(r.ID).MatchString(id))
}
