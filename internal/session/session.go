// Package session has the handles of sessions: how they are written, what is known of a session beside its handle, and
// that one call at a time resumes a session. It knows no CLI by name and opens no file.
package session

import (
	"encoding/base64"
	"strings"

	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/pattern"
	"github.com/clichain/clichain/internal/plaintext"
)

// Handle is a session as Response.Session names it: the backend, which keeps a chain from resuming it elsewhere, and
// the CLI's own id. A caller may get one from anywhere, so it says nothing that is obeyed: where the session was made,
// and what it has used, is in the [Record] of this user.
type Handle struct{ Backend, ID string }

// String writes the handle, of letters, digits, ".", "_" and "-": a shell takes it without quotes. "" without an ID.
func (h Handle) String() string {
	if h.ID == "" {
		return ""
	}
	return h.Backend + "." + base64.RawURLEncoding.EncodeToString([]byte(h.ID))
}

// backendShape is that of a spec's name.
var backendShape = pattern.Of(`^[a-z0-9][a-z0-9._-]*$`)

// Parse reads what String wrote, or "backend:id" with an id that the CLI itself has told.
func Parse(handle string) (h Handle, ok bool) {
	if backend, id, told := strings.Cut(handle, ":"); told {
		h = Handle{Backend: backend, ID: id}
		if id == "" || !backendShape().MatchString(backend) {
			return Handle{}, false
		}
		return h, true
	}
	dot := max(strings.LastIndexByte(handle, '.'), 0) // the name of a backend may have some
	id, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(handle[dot:], "."))
	h = Handle{Backend: handle[:dot], ID: string(id)}
	if err != nil || len(id) == 0 || !backendShape().MatchString(h.Backend) || h.String() != handle {
		return Handle{}, false
	}
	return h, true
}

// Takes reports whether an id has the form of this CLI's session ids. None can be taken for a flag, and all can be an
// argument.
func Takes(r clispec.SessionRules, id string) bool {
	return !strings.HasPrefix(id, "-") && plaintext.Problem(id) == "" &&
		(r.ID == "" || plaintext.Whole(r.ID).MatchString(id))
}
