package proc

import "os"

// start starts the program the way the command asks for.
func start(c Command, files []*os.File) (tree, error) {
	switch {
	case c.Cgroup != "":
		return startInCgroup(c, files)
	case c.Shim:
		return startShim(c, files)
	}
	return startDirectly(c, files)
}
