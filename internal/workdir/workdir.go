// Package workdir prepares what a run has on disk: its working directory, the files of its options and its temporary
// files. It refuses directories that are not trusted.
package workdir

import (
	"os"
	"path"
	"path/filepath"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/localfile"
	"github.com/clichain/clichain/internal/session"
)

// Backend is what the working directories of a backend's calls depend on.
type Backend struct {
	Name        string
	Spec        *clispec.Spec
	InContainer bool
}

// Dir is the working directory of a call, here or inside the container; "" is the container's own. A call with
// AccessNone has an empty directory, so that no files of somebody else can steer the CLI. known is the record of the
// session to continue; starts says that the CLI will be started.
func (b Backend) Dir(req call.Request, known *session.Record, starts bool) (string, *call.Error) {
	dir, err := b.dir(req, known, starts)
	if err != nil && err.Reason == call.ReasonBadOption && req.Dir == "" && session.Dir(req, known) != "" {
		err = call.Errorf(call.ReasonBadSession, "session", "the directory it was made in is gone: %s", err.Message)
	}
	return dir, err
}

func (b Backend) dir(req call.Request, known *session.Record, starts bool) (string, *call.Error) {
	dir := session.Dir(req, known)
	switch {
	case b.InContainer && req.Access == call.AccessNone:
		return "", nil
	case b.InContainer && dir != "" && !path.IsAbs(dir):
		return "", call.Errorf(call.ReasonBadOption, "dir", "%q is no absolute path inside the container", dir)
	case b.InContainer:
		return dir, nil
	}
	if req.Access == call.AccessNone {
		return b.Empty(req.Session != "", starts)
	}
	own, err := localfile.EmptyDir(b.Name)
	if err == nil && dir == own { // of a session
		if b.Spec.Sessions.DirBound {
			err := call.Errorf(call.ReasonBadSession, "session", "it was made without access to a directory")
			err.Advice = []call.Advice{{Action: call.ActionSet, Field: "access", Value: call.AccessNone.String()}}
			return "", err
		}
		dir = ""
	}
	return existing(dir)
}

// Empty makes the empty directory of the backend's calls with AccessNone. Its path stays the same, because some CLIs
// find a session only in the directory in which it was made. If the home directory is not writable, the empty directory
// is a temporary one, in which no session can continue. Unless starts is set, Empty only returns the path.
func (b Backend) Empty(continues, starts bool) (string, *call.Error) {
	if !starts {
		dir, err := localfile.FirstEmptyDir(b.Name)
		if err != nil {
			return "", noEmptyDir(err)
		}
		return dir, nil
	}
	dir, lasting, err := localfile.MakeEmptyDir(b.Name, b.Spec.GuardFiles)
	switch {
	case err != nil:
		return "", noEmptyDir(err)
	case continues && !lasting:
		be := call.Errorf(call.ReasonBadSession, "session",
			"this user's state directory cannot be written to, so calls without access keep no sessions")
		be.Hint = stateHint
		return "", be
	}
	return dir, nil
}

const stateHint = "set XDG_STATE_HOME to a folder that this user can write to, and nobody else"

func noEmptyDir(err error) *call.Error {
	be := call.Errorf(call.ReasonSpawn, "", "no private folder to work in: %v", err)
	be.Err = err
	be.Hint = stateHint
	return be
}

// existing makes the path absolute and checks that it is a directory.
func existing(dir string) (string, *call.Error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", call.Errorf(call.ReasonBadOption, "dir", "%q: %v", dir, err)
	}
	info, err := os.Stat(abs)
	switch {
	case err != nil:
		return "", call.Errorf(call.ReasonBadOption, "dir", "%v", err)
	case !info.IsDir():
		return "", call.Errorf(call.ReasonBadOption, "dir", "%q is no directory", dir)
	}
	return abs, nil
}
