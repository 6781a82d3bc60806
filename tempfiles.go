package clichain

import (
	"os"
	"path/filepath"
)

// prepareFiles makes the call's files, and its empty directory, in a private
// folder. The returned func removes the folder, and must always be called.
func (inv *invocation) prepareFiles() (remove func(), err error) {
	remove = func() {}
	root := inv.tempRoot()
	if root == "" {
		return remove, nil
	}
	if err := os.Mkdir(root, 0o700); err != nil {
		return remove, err
	}
	remove = func() { _ = os.RemoveAll(root) } // ours alone; nothing to do about a failure
	if inv.empty {
		if err := os.Mkdir(inv.dir, 0o700); err != nil {
			return remove, err
		}
	}
	for _, f := range inv.files {
		if err := os.WriteFile(f.path, []byte(f.content), 0o600); err != nil {
			return remove, err
		}
	}
	return remove, nil
}

// tempRoot is the folder of all that is temporary, "" when nothing is.
func (inv *invocation) tempRoot() string {
	switch {
	case inv.empty:
		return filepath.Dir(inv.dir)
	case len(inv.files) > 0:
		return filepath.Dir(inv.files[0].path)
	}
	return ""
}
