//! The engine: what an agent sees of a skill.
