//! The certificates of a hosted control plane: which authorities and leaves there are, when each is issued anew, and the kubeconfigs made of them.
