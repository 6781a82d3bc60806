package clichain

// Vessel is a container to run CLIs in.
type Vessel = vessel

// Box is how what a call leaves in a container is ended.
type Box = box

// SweepScript ends what a call has left in a container.
var SweepScript = sweepScript
