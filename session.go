package clichain

import "strings"

// A session handle is "backend:id": it says whose session it is, so that a
// chain never offers it to another backend.

func sessionHandle(backend, id string) string {
	if id == "" {
		return ""
	}
	return backend + ":" + id
}

// setSession takes the handle apart and refuses a foreign one.
func (c *call) setSession(spec *CliSpec, handle string) *BackendError {
	if handle == "" {
		return nil
	}
	backend, id, ok := strings.Cut(handle, ":")
	switch {
	case !ok || id == "":
		return badOption("session", "%q is no session: use the Session of a Response", handle)
	case strings.HasPrefix(id, "-"):
		return badOption("session", "%q: a session id does not begin with a dash", handle)
	case backend != spec.Name:
		return unsupported("session", "%q belongs to %s", handle, backend)
	}
	c.fields.set("session", id)
	return nil
}
