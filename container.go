package clichain

// Container runs a CLI inside a container instead of on this machine: either
// in one that is running (Name), or in a fresh one for every run (Image). The
// zero value is refused: exactly one of the two must be set. It is a plain
// value; a backend copies it, and does not change it.
//
// # Containers
//
// The client of the container runtime runs on this machine; the CLI runs
// inside, through "sh", which must be there, as must "grep" for Name. Its
// program is looked for on the container's PATH; Config.Binary is a name or a
// path inside. Request.Dir is an absolute path inside, and is not looked at
// here; empty, it is the container's own. Temporary files of the call are made
// inside, below /tmp, and hold up to 128 KiB each.
//
// Of this machine's environment the CLI sees what the spec's PassEnv (and
// PassEnvIf, by a variable or the model) and Config.PassEnv name, but nothing that is about this machine, such as PATH,
// HOME and TMPDIR, even with Config.InheritEnv. Config.Env sets anything. A
// variable that holds a path of this machine is passed as it is: set it to the
// path inside. No value is ever an argument of the client.
//
// Killing the client leaves the processes inside alive. So when a run is to
// stop, those inside are asked to end first, and after every run, however it
// ended, all that it has left inside is killed and its folder removed. That
// takes one more start of the client, and ten seconds at most. Should it fail,
// Response.Warnings or the error says so. Two kinds of process get away from
// it in a container that goes on running: one that has cleared its environment,
// and one that has changed its user. On Linux with a runtime of its own they
// are ended like those of a CLI on this machine as well, as far as this user
// may see them.
type Container struct {
	// Runtime is "docker", "podman" or another program that takes the same
	// arguments: a name to look for on PATH, or an absolute path. Empty: docker.
	Runtime string
	// Name is a running container, by name or id.
	Name string
	// Image is an image to make a container of that ends with the run. Its
	// entry point is not used. Pull it first: the attempt's timeout goes on.
	Image string
	// RunArgs are more arguments of the runtime's exec or run, such as
	// "--user=1000" or mounts. A terminal, detaching, a name and an entry
	// point are refused.
	RunArgs []string
}
