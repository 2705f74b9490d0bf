"""HTTP servers in this process: a bounded server, and checks against requests of other origins."""
