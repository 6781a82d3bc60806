package clichain

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/compose"
	"github.com/clichain/clichain/internal/grammar"
	"github.com/clichain/clichain/internal/localfile"
	"github.com/clichain/clichain/internal/login"
	"github.com/clichain/clichain/internal/session"
)

// folder is the directory that a call works in, here or inside a container; ""
// is the container's own. A call without access has one that holds nothing, so
// that no directory that somebody else has filled can steer it.
func (p *Provider) folder(req Request, known *session.Record, starts bool) (string, *BackendError) {
	dir := session.Dir(req, known)
	switch {
	case p.cfg.Container != nil && req.Access == AccessNone:
		return "", nil
	case p.cfg.Container != nil && dir != "" && !path.IsAbs(dir):
		return "", call.Errorf(ReasonBadOption, "dir", "%q is no absolute path inside the container", dir)
	case p.cfg.Container != nil:
		return dir, nil
	}
	if req.Access == AccessNone {
		return p.emptyDir(req.Session != "", starts)
	}
	own, err := localfile.EmptyDir(p.name)
	if err == nil && dir == own { // of a session
		if p.spec.Sessions.DirBound {
			return "", call.Errorf(ReasonBadSession, "session",
				"it was made without access to a directory: continue it with AccessNone")
		}
		dir = ""
	}
	return workDir(dir)
}

// emptyDir makes the directory of this backend's calls without access. It stays the
// same, because some CLIs find a session only in the directory it was made in. Where
// the home takes no files, it is a temporary one, in which no session goes on. A call that
// starts nothing makes nothing either.
func (p *Provider) emptyDir(goesOn, starts bool) (string, *BackendError) {
	if !starts {
		dir, err := localfile.FirstEmptyDir(p.name)
		if err != nil {
			return "", noEmptyDir(err)
		}
		return dir, nil
	}
	dir, lasting, err := localfile.MakeEmptyDir(p.name, p.spec.GuardFiles)
	switch {
	case err != nil:
		return "", noEmptyDir(err)
	case goesOn && !lasting:
		be := call.Errorf(ReasonBadSession, "session",
			"this user's state directory cannot be written to, so calls without access keep no sessions")
		be.Hint = stateHint
		return "", be
	}
	return dir, nil
}

const stateHint = "set XDG_STATE_HOME to a folder that this user can write to, and nobody else"

func noEmptyDir(err error) *BackendError {
	be := call.Errorf(ReasonSpawn, "", "no private folder to work in: %v", err)
	be.Err = err
	be.Hint = stateHint
	return be
}

// workDir makes the directory absolute and checks that it is one.
func workDir(dir string) (string, *BackendError) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", call.Errorf(ReasonBadOption, "dir", "%q: %v", dir, err)
	}
	info, err := os.Stat(abs)
	switch {
	case err != nil:
		return "", call.Errorf(ReasonBadOption, "dir", "%v", err)
	case !info.IsDir():
		return "", call.Errorf(ReasonBadOption, "dir", "%q is no directory", dir)
	}
	return abs, nil
}

// distrust refuses a call in directories whose files would steer the CLI. Those
// of the home are the user's own.
func distrust(inv *compose.Invocation) *BackendError {
	home := realPath(login.PlaceOf(inv.Call.Env, inv.Dir).Home)
	for _, top := range append([]string{inv.Dir}, inv.Call.Fields["add_dirs"]...) {
		for _, name := range inv.Unwanted {
			if found := steering(top, name, home); found != "" {
				return untrusted(found)
			}
		}
	}
	return nil
}

// steering is the file of that name in a directory, or above it where the name
// begins with "./"; "" if there is none.
func steering(top, name, home string) string {
	file, above := strings.CutPrefix(name, "./")
	dirs := []string{top}
	if above { // CLIs differ in whether they go up by PWD or by the real path
		dirs = append(grammar.Upward(top, ""), grammar.Upward(realPath(top), "")...)
	}
	for _, dir := range dirs {
		found := filepath.Join(dir, file)
		if _, err := os.Lstat(found); err == nil && realPath(dir) != home {
			return found
		}
	}
	return ""
}

// realPath is the path without links, or the same path where that is unknown.
func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

func untrusted(file string) *BackendError {
	err := call.Errorf(ReasonUntrustedDir, "dir", "%s would steer this CLI, or start programs of its own", file)
	err.Hint = fmt.Sprintf("look at %s; if you trust it, set Config.TrustDir (--trust-dir)", filepath.Base(file))
	return err
}

// makeFiles makes the call's files in a private folder, and sees to it that its
// empty directory is empty. The returned func removes the folder, and must
// always be called.
func (inv *plan) makeFiles() (remove func(), err *BackendError) {
	remove = func() {}
	if inv.Empty && inv.box == nil {
		if err := localfile.KeepEmpty(inv.Dir, inv.Guards); err != nil {
			return remove, noEmptyDir(err)
		}
	}
	if inv.Temp == "" {
		return remove, nil
	}
	temp, failed := localfile.NewDir(inv.Temp)
	if failed != nil {
		return remove, noTempFile(failed)
	}
	defer temp.Close()
	remove = func() { _ = os.RemoveAll(inv.Temp) } // ours alone; nothing to do about a failure
	for _, f := range inv.Files {
		name, err := filepath.Rel(inv.Temp, f.Path)
		if err == nil {
			err = temp.WriteFile(name, []byte(f.Content), 0o600)
		}
		if err != nil {
			return remove, noTempFile(err)
		}
	}
	return remove, nil
}

func noTempFile(err error) *BackendError {
	be := call.Errorf(ReasonSpawn, "", "cannot write a temporary file: %v", err)
	be.Err = err
	return be
}
