package clichain

// Container runs a CLI in a container instead of on this machine: in a running container (Name), or in a new one for
// every run (Image). Set exactly one of them; the zero value is invalid. A Container is a plain value. A backend
// copies it.
//
// # Inside a container
//
// The client of the container runtime runs on this machine. It starts the CLI inside the container through "sh". The
// container must have "sh", and with Name also "grep". The program of the CLI is looked up on the PATH of the
// container; Config.Binary is a name or a path inside. Request.Dir is an absolute path inside, which is not checked;
// if it is empty, the working directory of the container applies. Temporary files of the call are created below /tmp
// of the container, with at most 128 KiB each.
//
// From the environment of this machine, the CLI sees the variables that PassEnv and PassEnvIf of the spec and
// Config.PassEnv list. Variables that describe this machine, such as PATH, HOME and TMPDIR, are never passed, even
// with Config.InheritEnv. Config.Env can set any variable. If a variable contains a path of this machine, set it to
// the path inside. Values are never arguments of the client.
//
// Killing the client does not kill the processes inside. When a run is stopped, they get SIGTERM. After every run, the
// remaining processes of the run are killed and its directory is removed, which takes one more start of the client and
// at most ten seconds. If that fails, Response.Warnings or the error reports it. In a container that keeps running,
// two kinds of processes can survive: a process that has cleared its environment, and a process that has changed its
// user. If the runtime executes containers on this Linux machine, they are also killed from outside, as descendants of
// a local CLI are, as long as this user can see them.
type Container struct {
	// Runtime is "docker", "podman" or another program that takes the same arguments: a name to look up on PATH, or
	// an absolute path. Empty: docker.
	Runtime string
	// Name is the name or id of a running container.
	Name string
	// Image is the image of a container that is removed after the run. Its entry point is not used. Pull the image
	// first, because the timeout of the attempt includes the download.
	Image string
	// RunArgs are additional arguments of the exec or run command of the runtime, such as "--user=1000" or mounts.
	// Arguments that set a terminal, detach, a name or an entry point are invalid.
	RunArgs []string
}
