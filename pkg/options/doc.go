// Package options answers one question: what was asked for?
//
// One struct holds every option of the commands and suites. A flag wins over the environment, which wins over the
// default; a value that does not parse is a usage error, never a silent default. No other package reads the environment.
package options
