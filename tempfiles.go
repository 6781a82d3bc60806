package clichain

import "os"

// prepareFiles makes the call's files, and its empty directory, in a private
// folder. The returned func removes the folder, and must always be called.
func (inv *invocation) prepareFiles() (remove func(), err error) {
	remove = func() {}
	if inv.temp == "" {
		return remove, nil
	}
	if err := os.Mkdir(inv.temp, 0o700); err != nil {
		return remove, err
	}
	remove = func() { _ = os.RemoveAll(inv.temp) } // ours alone; nothing to do about a failure
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
