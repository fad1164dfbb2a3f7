import './workers';
import 'graphiql/style.css';
import './style.css';
import { createRoot } from 'react-dom/client';
import { Explorer } from './explorer';

const place = document.getElementById('explorer');
if (place) createRoot(place).render(<Explorer />);
