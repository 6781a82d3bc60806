package clitest

// NoLeaksFor is NoLeaks with another patience.
var NoLeaksFor = noLeaks
