//! What is different from one infrastructure platform to the next: one file per platform behind one trait.
