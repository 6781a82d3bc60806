// Package serve answers the requests of OpenAI clients with a backend of clichain. It knows no flags and opens no
// address: it is a handler for a server that listens on this machine alone. Whoever has its token may ask, without
// access to anything; what a CLI cannot do as it was asked to is refused by name.
package serve
